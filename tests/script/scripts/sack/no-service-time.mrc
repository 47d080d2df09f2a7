# Without it the stamp comes back as it was, however long the answer took.
# REQ(rsp.svc-time) REQ(rsp.sack.reflect-time)
config svc_time off

expect nothing for 1us
hold
< WRITE ONLY psn 100 len 8 ackreq ts 1000
stop 1280ns
go
> SACK cack 100 ts 1000
> ACK msn 1
