# Timeouts: 1.024us * 2^8, twice at that interval (linear 2), then doubling (exp 2), each sending the
# oldest packet again; then the retries are used up: the QP is in ERR and the request has failed.
# REQ(req.retry.timeout) REQ(req.retry.linear-exp) REQ(req.retry.exhausted) REQ(req.loss.timeout)
config evs 4 timeout 8 linear 2 exp 2

post write 100 bytes id 1
post write 100 bytes id 2
> WRITE ONLY psn 100
> WRITE ONLY psn 101
+262.144us > WRITE ONLY psn 100 rtx
+262.144us > WRITE ONLY psn 100 rtx
+262.144us > WRITE ONLY psn 100 rtx
+524.288us > WRITE ONLY psn 100 rtx
+1048.576us expect completion id 1 retry_exceeded
expect completion id 2 flushed
expect qp_error retry_exceeded
expect state ERR
expect nothing for 10s
