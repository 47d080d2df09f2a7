# A QP that went to ERR for a reason of its own tells whoever goes on sending: packets and probes are
# answered with the NACK unexpected event. REQ(rsp.nack.unexpected)
config planes 1

state ERR
< WRITE ONLY psn 100 len 8 ev 3
> NACK psn 100 reason unexp_event ev 3 ts echo
< PROBE probe 7
> NACK reason unexp_event
expect placed nothing
expect nothing for 1s
