# With no retries at all the first timeout is the last. REQ(req.retry.exhausted)
config evs 4 timeout 0 linear 0 exp 0

post write 100 bytes id 1
> WRITE ONLY psn 100
+1.024us expect completion id 1 retry_exceeded
expect qp_error retry_exceeded
