import { execFile } from 'node:child_process'
import { basename } from 'node:path'
import { promisify } from 'node:util'
import { ACCEPTED_FINDINGS, type AcceptedFinding } from './accepted-findings.ts'
import { withTemplates } from './templates.ts'

export type Finding = { template: string; id: string; name: string; resource: string }

const run = promisify(execFile)
const MAX_OUTPUT_BYTES = 64 * 2 ** 20

/**
 * Checks the templates with checkov.
 * @param command `checkov`
 * @throws an Error that lists findings that are not accepted, and accepted ones that no template has
 */
export async function checkTemplate(command: string): Promise<void> {
  const findings = await withTemplates((paths) => Promise.all(paths.map((path) => findIn(command, path))))
  const problems = compareFindings(findings.flat())
  if (problems.length > 0) throw new Error(`checkov:\n${problems.join('\n')}`)
  console.log(
    `checkov: no findings in ${findings.length} templates but the ${ACCEPTED_FINDINGS.length} that are accepted`,
  )
}

/** What is wrong with findings, given those that are accepted. */
export function compareFindings(
  findings: Finding[],
  accepted: AcceptedFinding[] = ACCEPTED_FINDINGS,
): string[] {
  const matches = ({ id, resources }: AcceptedFinding, finding: Finding) =>
    finding.id === id && resources.test(finding.resource)
  return [
    ...findings
      .filter((finding) => !accepted.some((each) => matches(each, finding)))
      .map(({ template, id, name, resource }) => `${template}: ${id} ${name}: ${resource}`),
    ...accepted
      .filter((each) => !findings.some((finding) => matches(each, finding)))
      .map(({ id, resources }) => `${id} is accepted on ${resources}, and not found on any.`),
  ]
}

async function findIn(command: string, path: string): Promise<Finding[]> {
  // Without the first one it exits with code 1; the second one keeps it offline.
  const options = [
    '--soft-fail',
    '--skip-download',
    '--framework',
    'cloudformation',
    '--output',
    'json',
    '--quiet',
  ]
  const { stdout } = await run(command, [...options, '--file', path], { maxBuffer: MAX_OUTPUT_BYTES })
  const { results, summary } = JSON.parse(stdout)
  if (summary.parsing_errors > 0 || summary.passed === 0) throw new Error(`checkov could not read ${path}.`)
  return results.failed_checks.map((check: { check_id: string; check_name: string; resource: string }) => ({
    template: basename(path, '.json'),
    id: check.check_id,
    name: check.check_name,
    resource: check.resource,
  }))
}
