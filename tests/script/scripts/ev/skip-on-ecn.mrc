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
post write 8 bytes id 2..3
> WRITE ONLY psn 101..102 ev !A
expect ev A GOOD
expect no_event
< ACK msn 3
expect completion id 2..3 success
post write 8 bytes id 4..5
> WRITE ONLY psn 103
> WRITE ONLY psn 104
< ACK msn 5
expect completion id 4..5 success
expect stat evs_skipped 1
expect stat evs_retired 0
