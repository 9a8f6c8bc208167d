import { readFileSync } from 'node:fs'
import { runCommand } from '../../support/processes/processes.ts'
import { withTemplates } from './templates.ts'

const REGIONS = ['us-east-1', 'eu-west-1', 'ap-southeast-2']
/** In the partitions aws-us-gov and aws-cn, which have no managed instances. */
const OTHER_REGIONS = ['us-gov-west-1', 'cn-north-1']

/** The CDK adds dependencies that CloudFormation would infer. */
const IGNORED = ['W3005']

/** Checks two templates, or all, with cfn-lint. @param command `cfn-lint` */
export function lintTemplate(command: string, all: boolean): Promise<void> {
  return withTemplates(all, async (paths) => {
    for (const path of paths) {
      const hasInstances = readFileSync(path, 'utf8').includes('AWS::Lambda::CapacityProvider')
      const regions = hasInstances ? REGIONS : [...REGIONS, ...OTHER_REGIONS]
      await runCommand(command, ['--regions', ...regions, '--ignore-checks', ...IGNORED, '--template', path])
    }
    console.log(`cfn-lint: no findings in ${paths.length} templates`)
  })
}
