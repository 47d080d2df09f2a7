# ASSUMED_BAD stays what it is whatever SACKs for packets say that were sent on it before: only probes
# bring it back. REQ(req.ev.revive) REQ(req.ev.state-machine)
config evs 4

post write 8 bytes id 1..2
> WRITE ONLY psn 100 ev A
> WRITE ONLY psn 101 ev B
< SACK cack 100 trigger 100 mark always_skip
expect ev A ASSUMED_BAD
< SACK cack 100 trigger 100
expect ev A ASSUMED_BAD
< SACK cack 100 trigger 100 mark skip_once
expect ev A ASSUMED_BAD
< ACK msn 2
expect completion id 1..2 success
