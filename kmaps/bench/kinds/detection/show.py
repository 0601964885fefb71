"""Detection: judged columns, measures, figures and sections."""

from kmaps.bench.kinds.trade_off.show import TradeOffShown


class DetectionShown(TradeOffShown):
    """A trade-off whose samples are candidate windows."""


SHOWN = DetectionShown()
