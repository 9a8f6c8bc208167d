/** For the runtimes that run a file: the arguments are the URL of the service and a token. */
import { useClient } from './scenario.mjs'

const [baseUrl, token] = globalThis.Deno?.args ?? process.argv.slice(2)
console.log(JSON.stringify(await useClient(baseUrl, token)))
