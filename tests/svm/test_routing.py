"""Weights and names pass through scikit-learn: pipelines, searches, data frames."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import kmaps

RNG = np.random.default_rng(0)
X = RNG.random((60, 3))
Y = (X[:, 0] + RNG.normal(0, 0.3, 60) > 0.5).astype(int)
WEIGHTS = np.where(Y == 1, 0.1, 3.0)  # nearly all of them count for class 0


@pytest.fixture
def _routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize(
    "learner",
    [
        kmaps.CodedSVC(),
        kmaps.CodedSVCCV(C=[0.1, 1.0]),
        kmaps.CodedSVR(),
        kmaps.CodedRidge(),
        kmaps.LiblinearSVC(),
        kmaps.KernelSVC(),
        kmaps.GroupLassoSVC(),
        kmaps.RandomFeatureSVC(n_frequencies=20, sigma=None),
        kmaps.LandmarkSVC(n_landmarks=20),
    ],
    ids=lambda learner: type(learner).__name__,
)
@pytest.mark.usefixtures("_routing")
def test_weights_reach_the_learner_of_a_pipeline(learner):
    learner.set_fit_request(sample_weight=True)
    routed = make_pipeline("passthrough", learner).fit(X, Y, sample_weight=WEIGHTS).predict(X)
    np.testing.assert_array_equal(routed, learner.fit(X, Y, sample_weight=WEIGHTS).predict(X))
    assert routed.mean() < learner.fit(X, Y).predict(X).mean() - 0.1


@pytest.mark.usefixtures("_routing")
def test_weights_reach_the_folds_of_a_search():
    learner = (
        kmaps.CodedSVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    )
    found = GridSearchCV(learner, {"C": [0.1, 1.0]}, cv=2).fit(X, Y, sample_weight=WEIGHTS)
    plain = GridSearchCV(kmaps.CodedSVC(), {"C": [0.1, 1.0]}, cv=2).fit(X, Y)
    assert (found.cv_results_["mean_test_score"] > plain.cv_results_["mean_test_score"] + 0.1).all()


@pytest.mark.parametrize(
    "transformer", [kmaps.HomogeneousMap(), kmaps.ExactMap(), kmaps.Quantizer(n_levels=8)]
)
def test_a_data_frame_comes_back_with_names(transformer):
    frame = pd.DataFrame(X, columns=["width", "height", "depth"], index=np.arange(60) + 7)
    given = transformer.set_output(transform="pandas").fit_transform(frame)
    assert given.columns.tolist() == transformer.get_feature_names_out().tolist()
    assert given.columns[0].startswith("width")
    assert given.index.tolist() == frame.index.tolist()
    plain = transformer.set_output(transform="default").transform(frame)
    np.testing.assert_array_equal(given.to_numpy(), plain)


@pytest.mark.parametrize(
    "learner",
    [kmaps.CodedSVC(), kmaps.CodedSVR(), kmaps.CodedRidge(), kmaps.CodedSVCCV(C=[1.0])],
    ids=str,
)
def test_selectors_find_the_feature_that_counts_with_their_defaults(learner):
    """By `feature_importances_`, for which they look where there is no `coef_`."""
    for selector in (RFE(learner), SelectFromModel(learner)):
        assert selector.fit(X, Y).get_support().tolist() == [True, False, False]
    assert selector.estimator_.feature_importances_.argmax() == 0


@pytest.mark.parametrize(
    "learner",
    [
        kmaps.LandmarkSVC(n_landmarks=6, sigma=1.0),
        kmaps.RandomFeatureSVC(n_frequencies=3, sigma=1.0),
    ],
    ids=str,
)
def test_weights_of_outputs_are_no_weights_of_features(learner):
    """With as many outputs as features, selectors took them for features."""
    learner.fit(X, Y)
    assert learner.map_coef_.shape == (1, 6)
    with pytest.raises(AttributeError, match="map_coef_"):
        _ = learner.coef_
    for selector in (RFE(learner), SelectFromModel(learner)):
        with pytest.raises(ValueError, match="coef_"):
            selector.fit(X, Y).get_support()


@pytest.mark.parametrize(
    "model", [kmaps.CodedSVC, kmaps.CodedSVR, kmaps.CodedRidge, kmaps.CodedSVCCV]
)
@pytest.mark.parametrize("row_map", [kmaps.NystroemMap(), kmaps.HomogeneousMap(), "chi2"])
def test_tags_say_whether_the_map_takes_negative_values(model, row_map):
    positive_only = isinstance(row_map, kmaps.NystroemMap)
    assert model(row_map).__sklearn_tags__().input_tags.positive_only == positive_only
