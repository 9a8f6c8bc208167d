/**
 * Writes `cdk.out/sam.template.json` for `sam local start-api`: the synthesized template, with every function on this
 * machine's processor and with the emulators of `DYNAMODB_ENDPOINT` and `SQS_ENDPOINT`. SAM passes variables on only when the template
 * declares them.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { DYNAMODB_ENDPOINT, requireEnv, SQS_ENDPOINT } from '../lib/environment.ts'
import { forSam, type Template } from './for-sam.ts'

const OUT = new URL('../cdk.out/', import.meta.url)

try {
  const endpoints = { dynamodb: requireEnv(DYNAMODB_ENDPOINT), sqs: requireEnv(SQS_ENDPOINT) }
  const template = JSON.parse(
    readFileSync(new URL('AgentExecutionService.template.json', OUT), 'utf8'),
  ) as Template
  writeFileSync(new URL('sam.template.json', OUT), JSON.stringify(forSam(template, endpoints, process.arch)))
  console.log('cdk.out/sam.template.json is written. Next: sam local start-api -t cdk.out/sam.template.json')
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
