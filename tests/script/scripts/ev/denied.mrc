# any -> DENIED -> GOOD: only the operator's word. No data goes there, no feedback and no probe changes
# it. REQ(req.ev.denied) REQ(req.ev.state-machine)
config evs 3 probe_interval 100us

post write 8 bytes id 1..2
> WRITE ONLY psn 100 ev A
> WRITE ONLY psn 101 ev B
deny ev A
expect ev A DENIED
< SACK cack 100 mark always_skip trigger 100
< SACK cack 101 mark always_skip trigger 101
expect ev A DENIED
expect event ev B ASSUMED_BAD by mark
deny ev B                                            # from ASSUMED_BAD: its probes end
expect nothing for 10ms
post write 8 bytes id 3..5
> WRITE ONLY psn 102..104 ev !A,B
allow ev A
expect ev A GOOD
expect event ev A GOOD by operator
expect ev B DENIED
< ACK msn 5
expect completion id 1..5 success
