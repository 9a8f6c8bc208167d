import { readFileSync } from 'node:fs'
import type { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { FUNCTION_NAMES } from '../../../infra/functions/function-settings.ts'
import { READ_LATENCY } from '../../../infra/monitoring/metrics.ts'
import { routes } from '../../../lib/contract/routes.ts'
import { requireEnv } from '../../../lib/environment.ts'
import { readOperations } from '../api/read-definition.ts'
import { findResources, withStack } from '../synthesize.ts'

/** `operations`: of the API, with HEAD, OPTIONS and those of other methods. `bytes`: of the template. */
export type Measured = {
  functions: number
  routes: number
  operations: number
  resources: number
  bytes: number
  /** The patterns of the metric filters that measure reads. */
  readPatterns: string[]
}

const text = withStack(JSON.parse(requireEnv('CONTEXT')), (stack) => {
  const assembly = (stack.node.root as App).synth()
  return readFileSync(assembly.getStackArtifact(stack.artifactId).templateFullPath, 'utf8')
})
const template = Template.fromJSON(JSON.parse(text))
const measured: Measured = {
  functions: FUNCTION_NAMES.length,
  routes: routes.length,
  operations: readOperations(template).size,
  resources: Object.keys(template.toJSON().Resources).length,
  readPatterns: Object.values(findResources(template, 'AWS::Logs::MetricFilter'))
    .filter(({ Properties }) => Properties.MetricTransformations[0].MetricName === READ_LATENCY)
    .map(({ Properties }) => Properties.FilterPattern),
  bytes: Buffer.byteLength(text),
}
console.log(JSON.stringify(measured))
