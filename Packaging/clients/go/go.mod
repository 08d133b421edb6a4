module packages.invalid/sdkd

go 1.19
