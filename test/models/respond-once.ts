/** A process of its own that asks a model once: `{ name, environment, request }` comes in, the response goes out. */
import { text } from 'node:stream/consumers'
import { openModel } from '../../lib/models/open-model.ts'

const { name, environment, request } = JSON.parse(await text(process.stdin))
const model = await openModel(name, environment)
const response = await model.respond({ ...request, signal: new AbortController().signal })
process.stdout.write(JSON.stringify(response))
