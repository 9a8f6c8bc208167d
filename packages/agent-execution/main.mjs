#!/usr/bin/env node
/** Forwards to `agent-execution-service`, whose command has the name of this package: npx would fetch another one. */
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const service = createRequire(import.meta.url).resolve('agent-execution-service/package.json')
await import(new URL('cli/main.mjs', pathToFileURL(service)))
