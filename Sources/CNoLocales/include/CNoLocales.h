// Nothing to call: a program that links this target has no locales.
#pragma once
