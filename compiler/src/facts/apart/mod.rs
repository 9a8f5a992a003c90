//! Whether two accesses touch different memory, whoever executes them.
//!
//! Two executions of accesses are compared: a thread's and another's. Assume that they touch one element; then each
//! dimension gives an equation between the unknowns of the one and those of the other, in which the coordinates of the
//! threads are unknowns like any other and everything that the two need not share is an unknown twice. Where that leads to
//! a contradiction, or to both being the same thread, the accesses are apart. See `System` for how.
//!
//! Visits of one site that differ by numbers only are judged as one `Family`.

mod elements;
mod family;
mod poly;
mod system;
mod unknown;

use super::{FactList, Facts, Linear, Mask, Run, SymbolId, SymbolKind, Visit};
use crate::ir::{Axis, Kernel, Scope};
use elements::Elements;
use family::{Access, Choice, Execution, Family, Value};
use poly::{Poly, Var};
use std::collections::HashMap;
use system::{Agreement, Equation, System};
use tileproof_model::access::LANES;
use unknown::{Function, Kind, Unknowns};

/// How many steps are taken for one kernel at most.
const MOST_WORK: u32 = 100_000;

/// How many unknowns that are one of several values are taken apart for one access.
const MOST_CHOICES: u32 = 2;

/// How two executions relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Threads of different blocks.
    OtherBlock,
    /// Different threads of one block; `together` where both are in the same iteration of every loop around them.
    OtherThread {
        /// Whether what is the same for the whole block is the same for both.
        together: bool,
    },
    /// Threads of different warps of one block.
    OtherWarp {
        /// Whether what is the same for the whole block is the same for both.
        together: bool,
    },
    /// Any threads of one block, also one and the same.
    AnyThread {
        /// Whether what is the same for the whole block is the same for both.
        together: bool,
    },
}

/// What is known of two accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// They never touch one element.
    Apart,
    /// They may, for all that is known.
    Unknown(Reason),
}

/// Why two accesses are not known to be apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No index depends on this coordinate of the block.
    Ignored(Axis),
    /// An index depends on something that may be the same for both: its name.
    Data(String),
    /// They may touch one element.
    Undecided,
    /// It was too much work.
    Work,
}

/// Visits that are judged as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Group(usize);

/// Answers questions about the visits of a kernel.
#[derive(Debug)]
pub struct Prover<'a> {
    facts: &'a Facts,
    unknowns: Unknowns,
    executions: Vec<Option<Execution>>,
    /// By group: its visits, each with the number of its run.
    members: Vec<Vec<(usize, &'a Visit)>>,
    answers: HashMap<(Group, Group, u32, u32, Relation), Answer>,
    work: u32,
}

impl std::hash::Hash for Relation {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        let (which, together) = match self {
            Relation::OtherBlock => (0, false),
            Relation::OtherThread { together } => (1, *together),
            Relation::OtherWarp { together } => (2, *together),
            Relation::AnyThread { together } => (3, *together),
        };
        (which, together).hash(state);
    }
}

impl<'a> Prover<'a> {
    /// Ready for questions about a kernel.
    pub fn new(kernel: &Kernel, facts: &'a Facts) -> Prover<'a> {
        Prover {
            facts,
            unknowns: Unknowns::new(kernel.block),
            executions: Vec::new(),
            members: Vec::new(),
            answers: HashMap::new(),
            work: 0,
        }
    }

    /// Gathers visits of one site, each with the number of its run, that differ by numbers only. Those of no thread are left out.
    /// To ask about threads `in_block`, or about those of different blocks.
    pub fn groups(&mut self, visits: &[(usize, &'a Visit)], in_block: bool) -> Vec<Group> {
        let mut families: Vec<(Family, Vec<(usize, &'a Visit)>)> = Vec::new();
        let mut groups = Vec::new();
        for (run, visit) in visits.iter().filter(|(_, visit)| !visit.mask.is_empty()) {
            let Some(access) = self.access(*run, visit) else {
                groups.push(self.add(None, vec![(*run, *visit)]));
                continue;
            };
            let mut taking = families.iter_mut();
            match taking.find_map(|(family, members)| {
                family.admit(&access, &self.unknowns, in_block).then_some(members)
            }) {
                Some(members) => members.push((*run, visit)),
                None => families.push((Family::new(access, &self.unknowns), vec![(*run, visit)])),
            }
        }
        for (family, members) in families {
            let execution = family.execution(&mut self.unknowns);
            groups.push(self.add(execution, members));
        }
        groups
    }

    fn add(&mut self, execution: Option<Execution>, members: Vec<(usize, &'a Visit)>) -> Group {
        self.executions.push(execution);
        self.members.push(members);
        Group(self.executions.len() - 1)
    }

    /// The visits of a group, each with the number of its run.
    pub fn members(&self, group: Group) -> &[(usize, &'a Visit)] {
        self.members.get(group.0).map_or(&[], Vec::as_slice)
    }

    /// Whether accesses are apart whose distances are known numbers, by a look at each thread.
    fn apart_by_look(
        &self,
        (a, wide_a): (Group, u32),
        (b, wide_b): (Group, u32),
        relation: Relation,
    ) -> bool {
        let (together, by_warp) = match relation {
            Relation::OtherThread { together } => (together, false),
            Relation::OtherWarp { together } => (together, true),
            Relation::OtherBlock | Relation::AnyThread { .. } => return false,
        };
        let (Some(first), Some(second)) = (self.members.get(a.0), self.members.get(b.0)) else {
            return false;
        };
        let Some((run, base)) = first.first() else { return false };
        let symbols = &self.facts.runs[*run].symbols;
        let shared = |id: SymbolId| {
            let symbol = symbols.get(id);
            symbol.is_of_launch
                || matches!(symbol.kind, SymbolKind::Block(_))
                || together && symbol.scope >= Scope::Block
        };
        let alike = |(other, visit): &(usize, &Visit)| {
            other == run && visit.index.iter().zip(&base.index).all(|(form, base)| form.terms == base.terms)
        };
        let uniform = base.index.iter().flat_map(|form| &form.terms).all(|(id, coefficient)| {
            coefficient.uniform().is_some()
                && symbols.scope(&Linear::symbol(*id)) >= Scope::Block
                && shared(*id)
        });
        if !uniform || !first.iter().chain(second).all(alike) {
            return false;
        }
        let whom = |thread: usize| if by_warp { thread / LANES } else { thread };
        let (first, second): (&[_], &[_]) = (first, second);
        let Some(elements) = Elements::around([(first, wide_a), (second, wide_b)]) else { return false };
        let of_first = elements.touched(first, wide_a, self.unknowns.threads());
        let of_other;
        let of_second = match a == b && wide_a == wide_b {
            true => &of_first,
            false => {
                of_other = elements.touched(second, wide_b, self.unknowns.threads());
                &of_other
            }
        };
        let places = elements.places(&of_first);
        of_second.iter().all(|(element, thread, number)| {
            places.all(*element, |place| {
                let (_, other, of) = of_first[place];
                whom(other) == whom(*thread)
                    || exclude((first[of].1, other), (second[*number].1, *thread), &shared)
            })
        })
    }

    fn access(&mut self, run: usize, visit: &Visit) -> Option<Access> {
        let of = (run, self.facts.runs.get(run)?);
        let mut forms = Vec::new();
        for index in &visit.index {
            forms.push(self.unknowns.form(index, &visit.mask, of)?);
        }
        for axis in [Axis::X, Axis::Y, Axis::Z] {
            forms.push(self.unknowns.block(axis, of)?);
        }
        let mask = &visit.mask;
        let facts = visit.facts.iter().filter_map(|fact| self.unknowns.fact(fact, mask, of)).collect();
        let extremes = |form: &Linear| form.constant.extremes(mask);
        let known = visit.index.iter().map(|form| extremes(form).map(|(a, b)| (a.into(), b.into())));
        let known = known.collect::<Option<Vec<(i128, i128)>>>()?;
        let mut choices = Vec::new();
        for (symbol, _) in visit.index.iter().flat_map(|form| &form.terms) {
            choices.extend(self.choice(*symbol, mask, of));
        }
        Some(Access { forms, facts, mask: mask.clone(), known, choices })
    }

    /// The values of a symbol that is one of several.
    fn choice(&mut self, symbol: SymbolId, mask: &Mask, run: (usize, &Run)) -> Option<Choice> {
        let cases = &run.1.symbols.get(symbol).cases;
        if cases.is_empty() {
            return None;
        }
        let form = self.unknowns.form(&Linear::symbol(symbol), mask, run)?;
        let [(monomial, 1)] = form.0.as_slice() else { return None };
        let mut values = Vec::new();
        for case in cases {
            let form = self.unknowns.form(&case.value, mask, run)?;
            let facts: Option<Vec<Poly>> =
                case.facts.iter().map(|fact| self.unknowns.form(fact, mask, run)).collect();
            values.push(Value { form, facts: facts.unwrap_or_default(), ways: case.ways.clone() });
        }
        Some(Choice { var: monomial.lone()?, cases: values })
    }

    /// Whether visits that touch so many elements each from their index on may touch one element.
    pub fn apart(
        &mut self,
        (a, wide_a): (Group, u32),
        (b, wide_b): (Group, u32),
        relation: Relation,
    ) -> Answer {
        let key = (a, b, wide_a, wide_b, relation);
        if let Some(answer) = self.answers.get(&key) {
            return answer.clone();
        }
        let answer = match self.work > MOST_WORK {
            true => Answer::Unknown(Reason::Work),
            false => {
                self.judge((a, wide_a), (b, wide_b), relation).unwrap_or(Answer::Unknown(Reason::Undecided))
            }
        };
        self.answers.insert(key, answer.clone());
        answer
    }

    /// Whether two accesses that share what is the same for the block never touch one element where all of one of these lists
    /// holds of it.
    pub fn apart_on(
        &mut self,
        a: (Group, u32),
        b: (Group, u32),
        relation: Relation,
        (run, ways): (usize, &[FactList]),
    ) -> bool {
        !ways.is_empty() && ways.iter().all(|way| self.apart_on_way(a, b, relation, (run, way)) == Some(true))
    }

    fn apart_on_way(
        &mut self,
        a: (Group, u32),
        b: (Group, u32),
        relation: Relation,
        (run, way): (usize, &FactList),
    ) -> Option<bool> {
        if self.work > MOST_WORK {
            return None;
        }
        let of = (run, self.facts.runs.get(run)?);
        let mut first = self.executions.get(a.0.0)?.clone()?;
        let second = self.executions.get(b.0.0)?.clone()?;
        for fact in way {
            let form = self.unknowns.form(fact, &Mask::Uniform(true), of);
            first.facts.extend(form);
        }
        Some(self.compare((&first, a.1), (&second, b.1), relation)? == Answer::Apart)
    }

    fn judge(&mut self, a: (Group, u32), b: (Group, u32), relation: Relation) -> Option<Answer> {
        let (first, second) = (self.executions.get(a.0.0)?.clone()?, self.executions.get(b.0.0)?.clone()?);
        let answer = self.compare((&first, a.1), (&second, b.1), relation)?;
        if answer != Answer::Apart && self.apart_by_look(a, b, relation) {
            return Some(Answer::Apart);
        }
        if answer == Answer::Apart || first.choices.is_empty() && second.choices.is_empty() {
            return Some(answer);
        }
        let (first, second) = (first.by_cases(&[], MOST_CHOICES), second.by_cases(&[], MOST_CHOICES));
        for x in &first {
            for y in &second {
                if self.compare((x, a.1), (y, b.1), relation)? != Answer::Apart {
                    return Some(answer);
                }
            }
        }
        Some(Answer::Apart)
    }

    fn compare(
        &mut self,
        (first, wide_a): (&Execution, u32),
        (second, wide_b): (&Execution, u32),
        relation: Relation,
    ) -> Option<Answer> {
        let agreements = self.agreements(first, second, relation)?;
        let second = self.renamed(second, relation)?;
        // The coordinates of both must have come up before the system is made.
        let threads: Vec<(Var, Var)> = match relation {
            Relation::OtherBlock => Vec::new(),
            Relation::OtherThread { .. } | Relation::OtherWarp { .. } | Relation::AnyThread { .. } => {
                let all = self.unknowns.of_threads();
                all.into_iter().map(|var| Some((var, self.unknowns.twin(var)?))).collect::<Option<_>>()?
            }
        };
        let narrowed = self.narrowed(&first.mask, false).into_iter().chain(self.narrowed(&second.mask, true));
        let narrowed: Vec<Poly> = narrowed.collect();
        let mut system = System::new(&self.unknowns);
        system.agreements = agreements;
        first
            .facts
            .iter()
            .chain(&second.facts)
            .chain(&narrowed)
            .for_each(|fact| system.suppose(fact.clone()));
        let rank = first.forms.len().checked_sub(3)?;
        for dimension in 0..rank {
            let last = dimension + 1 == rank;
            let (before, after) = if last { (wide_a - 1, wide_b - 1) } else { (0, 0) };
            let form = first.forms[dimension].sub(second.forms.get(dimension)?)?;
            system.equations.push(Equation { form, low: -i128::from(before), high: i128::from(after) });
        }
        let blocks = || first.forms[rank..].iter().zip(&second.forms[rank..]).map(|(a, b)| a.sub(b));
        system.differences = match relation {
            Relation::OtherBlock => blocks().collect::<Option<_>>()?,
            Relation::OtherThread { .. } | Relation::OtherWarp { .. } => {
                threads.iter().map(|(a, b)| Poly::var(*a).sub(&Poly::var(*b))).collect::<Option<_>>()?
            }
            Relation::AnyThread { .. } => Vec::new(),
        };
        let apart = |system: &System<'_>| match relation {
            Relation::OtherBlock => system.is_one_place(),
            Relation::OtherThread { .. } | Relation::OtherWarp { .. } => {
                let equal = threads.iter().zip(&system.differences);
                let equal: Vec<Var> =
                    equal.filter(|(_, form)| form.is_zero()).map(|((a, _), _)| *a).collect();
                let by_warp = matches!(relation, Relation::OtherWarp { .. });
                separates(&self.unknowns, &equal, &first.mask, &second.mask, by_warp)
            }
            Relation::AnyThread { .. } => false,
        };
        system.tighten();
        let settled = |system: &mut System<'_>| system.settle() || apart(system);
        let closed = |system: &mut System<'_>| system.close() || apart(system) || system.is_void();
        let mut named = system.clone();
        let mut done = settled(&mut system);
        if !done {
            done = named.name_remainders() && (settled(&mut named) || closed(&mut named));
            self.work += named.work;
        }
        let done = done || closed(&mut system);
        let open = system.differences.iter().position(|form| !form.is_zero());
        self.work += 1 + system.work;
        Some(match done {
            true => Answer::Apart,
            false => Answer::Unknown(self.reason(first, relation, open)),
        })
    }

    /// The execution of the other.
    fn renamed(&mut self, execution: &Execution, relation: Relation) -> Option<Execution> {
        let forms = self.renamed_forms(&execution.forms, relation)?;
        let facts = self.renamed_forms(&execution.facts, relation)?;
        Some(Execution { forms, facts, choices: Vec::new(), ..execution.clone() })
    }

    /// Forms of the other.
    fn renamed_forms(&mut self, forms: &[Poly], relation: Relation) -> Option<Vec<Poly>> {
        let mut failed = false;
        let unknowns = &mut self.unknowns;
        let mut name = |var: Var| {
            if is_shared(unknowns.get(var).kind, relation) {
                return var;
            }
            unknowns.twin(var).unwrap_or_else(|| {
                failed = true;
                var
            })
        };
        let forms = forms.iter().map(|form| form.renamed(&mut name)).collect();
        (!failed).then_some(forms)
    }

    /// What agrees between two executions where other things do: what is made alike of what is alike.
    fn agreements(&mut self, a: &Execution, b: &Execution, relation: Relation) -> Option<Vec<Agreement>> {
        let [of_a, of_b] = [a, b].map(|execution| {
            let mut functions = self.unknowns.functions_in(&execution.forms);
            let mut renamed = execution.renamed.clone();
            let mut known = functions.len() + 1;
            while known > functions.len() {
                known = functions.len();
                functions.retain(|Function { var, operands, .. }| {
                    let is_known = !renamed.contains(var)
                        && operands.iter().all(|form| !renamed.iter().any(|var| form.holds(*var)));
                    if !is_known {
                        renamed.push(*var);
                    }
                    is_known
                });
            }
            functions
        });
        let mut agreements = Vec::new();
        for x in &of_a {
            for y in of_b.iter().filter(|y| x.of == y.of) {
                let operands = self.renamed_forms(&y.operands, relation)?;
                let result = self.renamed_forms(&[Poly::var(y.var)], relation)?;
                let operands = x.operands.iter().zip(&operands).map(|(x, y)| x.sub(y));
                agreements.push(Agreement {
                    where_zero: operands.collect::<Option<_>>()?,
                    zero: Poly::var(x.var).sub(result.first()?)?,
                });
            }
        }
        Some(agreements)
    }

    /// What a mask says of the coordinates of the threads in it.
    fn narrowed(&self, mask: &Mask, of_twins: bool) -> Vec<Poly> {
        let mut facts = Vec::new();
        for var in self.unknowns.of_threads() {
            let named = if of_twins { self.unknowns.get(var).twin } else { Some(var) };
            if let (Some((low, high)), Some(named)) = (self.unknowns.within(var, mask), named) {
                let form = Poly::var(named);
                facts.extend(form.offset(-low));
                facts.extend(form.scaled(-1).and_then(|form| form.offset(high)));
            }
        }
        facts
    }

    fn reason(&self, of: &Execution, relation: Relation, open: Option<usize>) -> Reason {
        let rank = of.forms.len() - 3;
        let (index, blocks) = of.forms.split_at(rank);
        let vars = |forms: &[Poly]| -> Vec<Var> {
            let factors = forms.iter().flat_map(|form| &form.0);
            factors.flat_map(|(monomial, _)| monomial.factors().to_vec()).collect()
        };
        let used = vars(index);
        if let (Relation::OtherBlock, Some(place)) = (relation, open)
            && let (Some(form), Some(axis)) = (blocks.get(place), [Axis::X, Axis::Y, Axis::Z].get(place))
            && vars(std::slice::from_ref(form)).iter().all(|var| !used.contains(var))
            && used.iter().all(|var| !matches!(self.unknowns.get(*var).kind, Kind::Symbol(_)))
        {
            return Reason::Ignored(*axis);
        }
        let data = used.iter().find(|var| matches!(self.unknowns.get(**var).kind, Kind::Symbol(_)));
        match data {
            Some(var) => Reason::Data(self.unknowns.get(*var).name.clone()),
            None => Reason::Undecided,
        }
    }
}

/// Whether what holds for a thread at one access cannot hold together with what holds for another one at another: two facts
/// that are opposite but for a number.
fn exclude(a: (&Visit, usize), b: (&Visit, usize), shared: &dyn Fn(SymbolId) -> bool) -> bool {
    let opposite = |x: &Linear, y: &Linear| {
        !x.terms.is_empty()
            && x.terms.len() == y.terms.len()
            && x.terms.iter().zip(&y.terms).all(|((symbol, by), (other, other_by))| {
                symbol == other && shared(*symbol) && by.get(a.1).checked_neg() == Some(other_by.get(b.1))
            })
    };
    a.0.facts.iter().any(|x| {
        b.0.facts.iter().any(|y| {
            opposite(x, y) && x.constant.get(a.1).checked_add(y.constant.get(b.1)).is_some_and(|sum| sum < 0)
        })
    })
}

/// Whether two executions have an unknown in common.
fn is_shared(kind: Kind, relation: Relation) -> bool {
    let together = match relation {
        Relation::OtherBlock => return kind == Kind::Launch,
        Relation::OtherThread { together }
        | Relation::OtherWarp { together }
        | Relation::AnyThread { together } => together,
    };
    match kind {
        Kind::Launch | Kind::Block(_) => true,
        Kind::Symbol(scope) => together && scope >= Scope::Block,
        Kind::Thread(_) | Kind::Table(_) | Kind::Shift => false,
    }
}

/// Whether threads of two masks that agree in these numbers are one thread, or of one warp.
fn separates(unknowns: &Unknowns, numbers: &[Var], a: &Mask, b: &Mask, by_warp: bool) -> bool {
    let threads = unknowns.threads();
    let whom = |thread: usize| if by_warp { thread / LANES } else { thread };
    let key = |thread: usize| numbers.iter().map(|var| unknowns.number(*var, thread)).collect::<Vec<i64>>();
    let mut of_a: Vec<(Vec<i64>, usize)> =
        (0..threads).filter(|thread| a.get(*thread)).map(|thread| (key(thread), whom(thread))).collect();
    of_a.sort_unstable();
    (0..threads).filter(|thread| b.get(*thread)).all(|thread| {
        let key = key(thread);
        let from = of_a.partition_point(|(other, _)| *other < key);
        let same = of_a.iter().skip(from).take_while(|(other, _)| *other == key);
        same.into_iter().all(|(_, who)| *who == whom(thread))
    })
}
