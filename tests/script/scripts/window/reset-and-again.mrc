# RESET forgets everything: requests vanish without completions, timers end, nothing more is sent.
# REQ(api.qp.modify.order)
config evs 4 tail_probe 50us timeout 8

post write 8 bytes id 1..3
> WRITE ONLY psn 100..102
state RESET
expect nothing for 10s
post write 8 bytes id 4 fails state
< ACK msn 3
< WRITE ONLY psn 100 len 8
expect nothing
expect stat drop_qp_state 2
