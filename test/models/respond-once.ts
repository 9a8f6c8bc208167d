/** A process that calls a model once: reads `{ name, environment, request }` from stdin and prints the response. */
import { text } from 'node:stream/consumers'
import { openModel } from '../../lib/models/open-model.ts'

const { name, environment, request } = JSON.parse(await text(process.stdin))
const model = await openModel(name, environment)
const response = await model.respond({ ...request, signal: new AbortController().signal })
process.stdout.write(JSON.stringify(response))
