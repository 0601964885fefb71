"""
A pipeline with pandas and GridSearchCV
=======================================

Maps are transformers of scikit-learn: they take data frames and name their outputs, and a grid
search finds their parameters like the parameters of any other step.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler

from kmaps import HomogeneousMap, LiblinearSVC

wine = load_wine(as_frame=True)
pipeline = Pipeline(
    [("scale", MinMaxScaler(clip=True)), ("map", HomogeneousMap()), ("svm", LiblinearSVC())]
)
pipeline.set_output(transform="pandas")
grid = {"map__kernel": ["chi2", "intersection", "hellinger"], "svm__C": [0.01, 0.1, 1, 10, 100]}
search = GridSearchCV(pipeline, grid, cv=5).fit(wine.data, wine.target)
print(search.best_params_)

table = 100 * search.cv_results_["mean_test_score"].reshape(3, 5)
fig, ax = plt.subplots(figsize=(7, 3))
ax.imshow(table, cmap="cividis", aspect="auto")
for row in range(3):
    for column in range(5):
        dark = table[row, column] < table.mean()
        ax.text(
            column,
            row,
            f"{table[row, column]:.1f}",
            ha="center",
            va="center",
            color="white" if dark else "black",
        )
ax.set_xticks(range(5), grid["svm__C"])
ax.set_yticks(range(3), grid["map__kernel"])
ax.set(xlabel="C", title="Wine: accuracy, %, five folds")
ax.grid(False)

# %%
# The outputs carry the names of the columns they come from:
search.best_estimator_[:2].transform(wine.data).iloc[:3, :4]
