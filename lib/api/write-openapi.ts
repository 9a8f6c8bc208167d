import { writeFileSync } from 'node:fs'
import { openApiDocument } from './openapi.ts'

/** `npm run openapi`: writes the contract where clients and tools look for it. */
writeFileSync('openapi.json', `${JSON.stringify(openApiDocument(), null, 2)}\n`)
console.log('openapi.json is written.')
