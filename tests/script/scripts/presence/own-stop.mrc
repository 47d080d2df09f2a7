# We were not run for 10ms, far beyond the timeout of 262us. The answer that waits for us is taken
# before the timer is judged: no timeout, nothing sent again. REQ(req.retry.own-stop)
config evs 4 timeout 8

post write 8 bytes id 1
> WRITE ONLY psn 100
stop 10ms
< SACK cack 100
< ACK msn 1
expect completion id 1 success
expect nothing for 10ms
expect stat timeouts 0
