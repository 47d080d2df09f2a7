# An EV probe needs no QP: it is answered with its id and time stamp, in the control class, on the way
# it came. REQ(ep.probe.answer) REQ(ep.probe.connectionless) REQ(wire.bth.endpoint-dqp)
config planes 2

state RESET
< EP_REQUEST op ev_probe id 4711 ts 99 ev 8 plane 1
> EP_RESPONSE op ev_probe id 4711 ts 99 ev 8 plane 1 class control dqp 2
