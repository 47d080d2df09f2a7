# We ask whether an EV leads to the peer's endpoint; the answer gives the round trip.
# REQ(ep.probe.rtt) REQ(ep.probe.connectionless) REQ(wire.bth.endpoint-dqp)
config planes 2

state RESET
request ev_probe id 5 ev 2 plane 1 timeout 1ms
> EP_REQUEST op ev_probe id 5 ev 2 plane 1 dqp 2
+13us < EP_RESPONSE op ev_probe id 5
expect answer id 5 rtt 13us
expect nothing for 10ms
