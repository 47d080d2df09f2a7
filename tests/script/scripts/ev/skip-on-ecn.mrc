# GOOD -> SKIP: a SACK that says skip_once; SKIP -> GOOD: its turn was passed over once. No event, no
# loss. REQ(req.ev.skip-on-ecn) REQ(req.ev.skip-once) REQ(req.ev.state-machine)
config evs 2

room none
post write 8 bytes id 1
room all
> WRITE ONLY psn 100 ev A
< SACK cack 100 mark skip_once
< ACK msn 1
expect completion id 1 success
expect ev A SKIP
post write 8 bytes id 2..4
> WRITE ONLY psn 101..102 ev !A
> WRITE ONLY psn 103
expect ev A GOOD
expect no_event
< ACK msn 4
expect completion id 2..4 success
expect stat evs_skipped 1
expect stat evs_retired 0
