import type { Shared } from './output.ts'

/** A command to go on with, on the same stack and organization, ready to be pasted. */
export function commandLine({ stack, org }: Pick<Shared, 'stack' | 'org'>, command: string): string {
  return `npm run agents -- ${command}${org ? ` --org ${org}` : ''}${stack ? ` --stack ${stack}` : ''}`
}

/** The text below a command's options in its help. */
export function examples(...commands: string[]): string {
  return [
    '',
    commands.length > 1 ? 'Examples:' : 'Example:',
    ...commands.map((command) => `  ${commandLine({}, command)}`),
  ].join('\n')
}

/** An argument as a POSIX shell takes it. */
export function quoted(argument: string): string {
  return /^[\w./:@%+=-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`
}
