# The last packet of the longest message: 4095 bytes at 2^32 - 4096. The responder takes it for what
# it is; one byte more would be too much. REQ(svc.message-size) REQ(rsp.place.payload-length)
config mtu 4096

< WRITE LAST psn 101 dmalen 4294967295 at 4294963200
expect placed 4095 at 4294963200
< WRITE LAST psn 102 dmalen 4294967295 len 4096 at 4294963200
expect stat drop_malformed 1
expect placed nothing
