# A NAK for an invalid request. REQ(req.error.nak)
config evs 8

post write 8 bytes id 1 imm 3
> WRITE ONLY IMM psn 100
< ACK msn 0 nak invalid_request
expect completion id 1 invalid_request
expect qp_error invalid_request
