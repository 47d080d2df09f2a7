# Any new acknowledgement starts the count of retries again: two timeouts, then a SACK, then as many
# again before the QP gives up. REQ(req.retry.progress)
config evs 4 timeout 8 linear 2 exp 0

post write 100 bytes id 1
post write 100 bytes id 2
> WRITE ONLY psn 100
> WRITE ONLY psn 101
+262.144us > WRITE ONLY psn 100 rtx
+262.144us > WRITE ONLY psn 100 rtx
< SACK cack 100
> WRITE ONLY psn 101 rtx                    # long missing, as this SACK says
+262.144us > WRITE ONLY psn 101 rtx
+262.144us > WRITE ONLY psn 101 rtx
+262.144us expect completion id 1 retry_exceeded
expect completion id 2 flushed
expect qp_error retry_exceeded
