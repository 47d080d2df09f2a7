# rcvd counts new packets at nominal size (payload + 88 bytes of headers) in units of 256, rounded up;
# duplicates and trimmed packets do not count.
# REQ(rsp.sack.rcvd-bytes) REQ(wire.ccstate.rcvd-bytes)
config planes 1

< WRITE ONLY psn 100 msn 0 len 936 ackreq             # 1024
> SACK rcvd 4
> ACK msn 1
< WRITE ONLY psn 100 msn 0 len 936 ackreq
> SACK rcvd 4
> ACK msn 1
< WRITE ONLY psn 101 msn 1 trim midpath
> NACK psn 101
< WRITE ONLY psn 101 msn 1 len 169 ackreq             # 1024 + 257
> SACK rcvd 6
> ACK msn 2
