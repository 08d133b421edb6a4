module packages.invalid/sdkd-driver

go 1.19

require packages.invalid/sdkd v0.0.0

replace packages.invalid/sdkd => ../../../../Packaging/clients/go
