/**
 * Writes `cdk.out/sam.template.json` for `sam local start-api`: the synthesized template, with functions for this
 * machine's processor that use the emulators of `DYNAMODB_ENDPOINT` and `SQS_ENDPOINT`. The variables are written into
 * the template because SAM passes only declared ones.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { DYNAMODB_ENDPOINT, requireEnv, SQS_ENDPOINT } from '../lib/environment.ts'
import { type Template, toSamTemplate } from './to-sam-template.ts'

const OUT = new URL('../cdk.out/', import.meta.url)

type Manifest = { artifacts: Record<string, { type: string; properties: { templateFile?: string } }> }

const readJson = (file: string) => JSON.parse(readFileSync(new URL(file, OUT), 'utf8'))

/** The template has the name of the stack. */
function findTemplateFile({ artifacts }: Manifest): string {
  const stack = Object.values(artifacts).find(({ type }) => type === 'aws:cloudformation:stack')
  if (!stack?.properties.templateFile) throw new Error('cdk.out contains no stack.')
  return stack.properties.templateFile
}

try {
  const endpoints = { dynamodb: requireEnv(DYNAMODB_ENDPOINT), sqs: requireEnv(SQS_ENDPOINT) }
  const template: Template = readJson(findTemplateFile(readJson('manifest.json')))
  const samTemplate = toSamTemplate(template, endpoints, process.arch)
  writeFileSync(new URL('sam.template.json', OUT), JSON.stringify(samTemplate))
  console.log('Wrote cdk.out/sam.template.json. Next: sam local start-api -t cdk.out/sam.template.json')
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
