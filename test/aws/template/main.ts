/**
 * `npm run test:template`: the templates of the stack in cfn-lint, two of them or, with `--all`, all. Skipped without
 * Python, unless TEST_AWS_REQUIRED is set.
 */
import { hasPython, installPython, MIN_PYTHON_MINOR } from '../../support/processes/python-environment.ts'
import { lintTemplate } from './lint-template.ts'

if (await hasPython()) {
  const commandOf = await installPython(new URL('../requirements.txt', import.meta.url))
  await lintTemplate(commandOf('cfn-lint'), process.argv.includes('--all'))
} else {
  console.log(`test:template: skipped, it needs Python 3.${MIN_PYTHON_MINOR} with venv`)
  if (process.env.TEST_AWS_REQUIRED) process.exitCode = 1
}
