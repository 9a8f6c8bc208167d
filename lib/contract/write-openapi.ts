import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { CLIENT_CONTRACT, clientContract } from './client-contract.ts'
import { openApiDocument } from './openapi.ts'

const DOCUMENT = 'openapi.json'
const toPath = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url))

/** `npm run openapi`. Neither file is in git. Standard output belongs to `npm pack`, which runs this, too. */
writeFileSync(toPath(DOCUMENT), `${JSON.stringify(openApiDocument(), null, 2)}\n`)
writeFileSync(toPath(CLIENT_CONTRACT), clientContract())
console.error(`Wrote ${DOCUMENT} and ${CLIENT_CONTRACT}.`)
