# A SACK tells the window in units of 128 PSNs. REQ(wire.seth.mpr) REQ(req.mpr.unit)
config mpr_dest 3

< WRITE ONLY psn 100 len 4 ackreq
> SACK mpr 3
> ACK msn 1
