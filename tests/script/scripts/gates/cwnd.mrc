# NSCC's window is a gate of its own: 3 packets of 1112 bytes fit, the fourth waits for bytes to be
# acknowledged. REQ(req.gate.cwnd) REQ(cc.nscc.inflight)
config cc nscc link_gbps 100 base_rtt 10us max_cwnd 3336 evs 8

post write 8192 bytes id 1
> WRITE FIRST psn 100
> WRITE MIDDLE psn 101..102
expect nothing for 5us
+5us < SACK cack 100
> WRITE MIDDLE psn 103
expect nothing for 5us
ignore WRITE
< SACK cack 103
