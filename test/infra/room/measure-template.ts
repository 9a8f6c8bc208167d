import { FUNCTION_NAMES } from '../../../infra/functions/function-settings.ts'
import { READ_LATENCY } from '../../../infra/monitoring/metrics.ts'
import { routes } from '../../../lib/api/routes.ts'
import { requireEnv } from '../../../lib/environment.ts'
import { readOperations } from '../api/read-definition.ts'
import { findResources, synthesize } from '../synthesize.ts'

/** `operations`: of the API, with HEAD, OPTIONS and those of other methods. `bytes`: of the template, as uploaded. */
export type Measured = {
  functions: number
  routes: number
  operations: number
  resources: number
  bytes: number
  /** Of the metric filters that measure reads, with `monitoring`. */
  readPatterns: string[]
}

if (import.meta.main) {
  const template = synthesize(JSON.parse(requireEnv('CONTEXT')))
  const measured: Measured = {
    functions: FUNCTION_NAMES.length,
    routes: routes.length,
    operations: readOperations(template).size,
    resources: Object.keys(template.toJSON().Resources).length,
    // The CDK indents templates by one space.
    readPatterns: Object.values(findResources(template, 'AWS::Logs::MetricFilter'))
      .filter(({ Properties }) => Properties.MetricTransformations[0].MetricName === READ_LATENCY)
      .map(({ Properties }) => Properties.FilterPattern),
    bytes: Buffer.byteLength(JSON.stringify(template.toJSON(), undefined, 1)),
  }
  console.log(JSON.stringify(measured))
}
