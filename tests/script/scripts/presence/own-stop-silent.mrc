# We were not run for 10ms, and nothing waits for us: one timeout step fires, not all that would have
# been due. REQ(req.retry.own-stop) REQ(req.retry.linear-exp)
config evs 4 timeout 8 linear 7 exp 0

post write 8 bytes id 1
> WRITE ONLY psn 100
stop 10ms
+0..300us > WRITE ONLY psn 100 rtx
expect stat timeouts 1
+200us..300us > WRITE ONLY psn 100 rtx
ignore WRITE
expect stat timeouts 2
