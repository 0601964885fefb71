"""Detection: a trade-off whose samples are candidate windows."""

from kmaps.bench.kinds.trade_off.show import TradeOffShown

SHOWN = TradeOffShown()
