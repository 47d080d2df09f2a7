# A transport ACK says that everything below has arrived; no SACK is needed. REQ(req.complete.acked)
config evs 8 tail_probe 50us

post write 3000 bytes id 1
> WRITE FIRST psn 100
> WRITE MIDDLE psn 101
> WRITE LAST psn 102
+10us < ACK msn 1
expect completion id 1 success
expect nothing for 10s
