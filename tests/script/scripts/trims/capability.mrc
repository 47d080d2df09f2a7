# A peer that cannot answer trims: what it is sent is not to be cut, and cut packets that it sends are
# answered all the same. REQ(rsp.nack.capability) REQ(wire.dscp.data-class)
config trim_nack_dest off

post write 100 bytes id 1
> WRITE ONLY psn 100 class no_trim
< NACK reason trimmed psn 100
> WRITE ONLY psn 100 rtx class no_trim
< SACK cack 100
< ACK msn 1
expect completion id 1 success
< WRITE ONLY psn 100 trim midpath
> NACK reason trimmed psn 100 class control
