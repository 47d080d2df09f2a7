# At the responder: packets land in any order and at once; when the hole is filled cack jumps over all
# that was there, and the messages behind it are acknowledged together.
# REQ(rsp.window.any-order) REQ(rsp.place.at-once) REQ(rsp.ack.transport) REQ(wire.seth.cack)
config planes 1

< WRITE LAST psn 102 msn 0 dmalen 2500
expect placed 452 at 2048
< WRITE ONLY psn 103 msn 1 len 64 ackreq
expect placed 64 at 3072
> SACK cack 99 map 0b1100 ooo 2 trigger 103 ev 224 ts echo
< WRITE MIDDLE psn 101 msn 0 dmalen 2500
expect placed 1024 at 1024
expect nothing
< WRITE FIRST psn 100 msn 0 dmalen 2500 ackreq
expect placed 1024 at 0
> SACK cack 103 map 0 ooo 0 trigger 100
> ACK msn 2
