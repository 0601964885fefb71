"""What commands that use a trained classifier have in common."""

from typing import TYPE_CHECKING, Any

from kmaps.cli.array_files import without_pandas
from kmaps.errors import InputError

if TYPE_CHECKING:
    from kmaps.io.reader import Reader


def load_classifier(path: str) -> Any:
    """Return the model in a file; refuse one that gives no labels."""
    with without_pandas():
        from sklearn.base import is_classifier

        from kmaps.models import load_model
    model = load_model(path)
    if not is_classifier(model):
        name = type(model).__name__
        raise InputError(f"{path}: of {name}, which gives no labels; use kmaps.load_model")
    return model


def check_columns(model: Any, file: str, reader: "Reader") -> None:
    """Refuse data with another number of columns than a model was trained on."""
    if reader.n_features != model.n_features_in_:
        raise InputError(
            f"{reader.name} has {reader.n_features} columns, {file} was trained on "
            f"{model.n_features_in_}"
        )
