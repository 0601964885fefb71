"""Records for tests, with what a test does not set."""


def record(method="homogeneous", split=0, **columns):
    """Return a record; parameters make its label."""
    params = columns.pop("params", {})
    return {
        "status": "ok",
        "experiment": "trial",
        "dataset": "digits",
        "features": "intensity",
        "normalize": "none",
        "reduction": "ovo",
        "kernel": "" if method == "linear" else "chi2",
        "method": method,
        "params": params,
        "label": " ".join([method, *(f"{k}={v}" for k, v in params.items())]),
        "split": split,
        "accuracy": 0.9,
    } | columns
