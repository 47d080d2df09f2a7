# With all ports down nothing is sent, and nothing can be asked; the timers go on, and the QP gives up
# in the end as with any silence. REQ(ep.port.local-down) REQ(req.retry.exhausted)
config planes 2 evs 4 timeout 8 linear 1 exp 0

post write 8 bytes id 1
> WRITE ONLY psn 100
port 0 down
port 1 down
request ev_probe id 1 fails state
post write 8 bytes id 2
expect nothing for 300us
< WRITE ONLY psn 100 len 8 ackreq
expect nothing for 100us
+0..1ms expect completion id 1 retry_exceeded
expect completion id 2 flushed
expect qp_error retry_exceeded
