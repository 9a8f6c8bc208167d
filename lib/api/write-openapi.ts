import { writeFileSync } from 'node:fs'
import { CLIENT_CONTRACT, clientContract } from './client-contract.ts'
import { openApiDocument } from './openapi.ts'

/** `npm run openapi` */
writeFileSync('openapi.json', `${JSON.stringify(openApiDocument(), null, 2)}\n`)
writeFileSync(CLIENT_CONTRACT, clientContract())
console.log(`Wrote openapi.json and ${CLIENT_CONTRACT}.`)
