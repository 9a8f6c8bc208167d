import { join } from 'node:path'
import { App, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import { bundleFunctions } from './functions/bundle.ts'
import { requireDefaultModel } from './functions/default-model.ts'
import { suppressFindings } from './nag-suppressions.ts'
import { readSettings } from './settings.ts'
import { ServiceStack } from './stack.ts'

const app = new App()
const settings = readSettings(app.node)
const region = process.env.CDK_DEFAULT_REGION
if (region && !settings.defaultModel) requireDefaultModel(region)
const bundles = join(app.outdir, 'functions')
await bundleFunctions(bundles)
suppressFindings(new ServiceStack(app, settings.stackName, { bundles, settings }))
Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
