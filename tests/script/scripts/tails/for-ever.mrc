# exp 25 means without end: after 40 timeouts the QP still tries; the interval stops at 1.024us * 2^24.
# REQ(req.retry.forever) REQ(req.loss.timeout)
config evs 4 timeout 8 linear 0 exp 25 tail_probe 60s

post write 100 bytes id 1
> WRITE ONLY psn 100
ignore WRITE PROBE
expect nothing for 900s
expect stat timeouts 60..80
ignore nothing
expect state RTS
< SACK cack 100
< ACK msn 1
expect completion id 1 success
