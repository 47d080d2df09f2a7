# When all other EVs are denied, a bad one is better than none. REQ(req.ev.min-active) REQ(req.ev.denied)
config evs 2

deny ev 0
post write 8 bytes id 1
> WRITE ONLY psn 100 ev 1
< SACK cack 100 mark always_skip
expect ev 1 GOOD
< ACK msn 1
expect completion id 1 success
