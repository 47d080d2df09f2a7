# Trigger 3: the packet carries a congestion mark: the SACK says skip_once of its EV.
# REQ(rsp.sack.trigger.ecn) REQ(rsp.sack.mark) REQ(rsp.sack.reflect-ev)
config planes 2

< WRITE ONLY psn 101 msn 1 len 4 ce ev 9 plane 1
> SACK cack 99 map 0b10 trigger 101 ev 9 ts echo mark skip_once plane 1
expect stat rx_ecn 1
