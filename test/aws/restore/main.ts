/** `npm run restore-drill`: restores the table of a stack in moto, with and without what docs/recovery.md says. */
import { installPython } from '../../support/processes/python-environment.ts'
import { runDrill } from './run-drill.ts'

const command = await installPython(new URL('../requirements.txt', import.meta.url))
await runDrill(command('moto_server'))
