# With service time the stamp comes back later by the time that the answer took: 1280ns are 10 units of
# 128ns. REQ(rsp.svc-time) REQ(rsp.sack.reflect-time)
config svc_time on

expect nothing for 1us
hold
< WRITE ONLY psn 100 len 8 ackreq ts 1000
stop 1280ns
go
> SACK cack 100 ts 1010
> ACK msn 1
