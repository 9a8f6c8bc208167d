import { runCommand } from '../../support/processes/run-command.ts'
import { withTemplates } from './templates.ts'

/** In the partitions aws, aws-us-gov and aws-cn. */
const REGIONS = ['us-east-1', 'eu-west-1', 'ap-southeast-2', 'us-gov-west-1', 'cn-north-1']

/** The CDK adds dependencies that CloudFormation would infer. */
const IGNORED = ['W3005']

/** Checks the templates with cfn-lint. @param command `cfn-lint` */
export function lintTemplate(command: string): Promise<void> {
  const options = ['--regions', ...REGIONS, '--ignore-checks', ...IGNORED]
  return withTemplates(async (paths) => {
    await runCommand(command, [...options, '--template', ...paths])
    console.log(`cfn-lint: no findings in ${paths.length} templates for ${REGIONS.join(', ')}`)
  })
}
