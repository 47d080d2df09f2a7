# rnr_retry waits without progress, and the next refusal is the end. What was under way when the wait
# began belongs to it. REQ(ext.rnr.retry)
config extended on rnr_retry 1

post send 8 bytes id 1
> PROBE probe P
< SACK probe P cack 99 ext 0x41
> SEND ONLY psn 100
post send 8 bytes id 2
> SEND ONLY psn 101
+1us < NACK psn 100 reason rnr wait 1
+1us < NACK psn 101 reason rnr wait 1
+9us > SEND ONLY psn 100 rtx
+1us < NACK psn 100 reason rnr wait 1
expect completion id 1 rnr_exceeded
expect completion id 2 flushed
expect qp_error rnr_exceeded
