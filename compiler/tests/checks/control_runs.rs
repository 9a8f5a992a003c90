//! Control flow means what it means in Rust: the same text is compiled by rustc and run on the simulator.

use tileproof_compiler::compile;
use tileproof_compiler::simulate::{Argument, Buffer, TensorArgument, simulate};

/// What a helper function with this body returns for the numbers -16 to 15, on the simulator.
fn on_simulator(body: &str) -> Vec<i32> {
    let item = format!(
        "fn kernel(output: &mut Tensor<i32, 1>) {{
            fn f(x: i32) -> i32 {body}
            output[[thread_x()]] = f(thread_x() as i32 - 16);
        }}"
    );
    let attribute = "block = [32], grid = [1], requires(output.len() >= 32)";
    let compiled = compile(attribute, &item).unwrap_or_else(|errors| panic!("{errors}\nin\n{item}"));
    let mut bytes = [0; 128];
    let mut arguments = [Argument::Tensor(TensorArgument {
        buffer: Buffer::Write(&mut bytes),
        extents: vec![32],
        strides: Vec::new(),
        base: 0,
    })];
    simulate(&compiled.kernel, [1; 3], &mut arguments).unwrap_or_else(|fault| {
        panic!("{fault}\nin\n{item}\n{}", tileproof_compiler::ir::print::print(&compiled.kernel))
    });
    bytes.chunks(4).map(|bytes| i32::from_ne_bytes(bytes.try_into().unwrap())).collect()
}

/// Tests that the simulator and rustc agree on a function of one number.
macro_rules! agree {
    ($($name:ident: |$x:ident| $body:block)*) => {
        $(
            #[test]
            #[allow(unused, clippy::all)]
            fn $name() {
                fn host($x: i32) -> i32 $body
                let expected: Vec<i32> = (-16..16).map(host).collect();
                assert_eq!(on_simulator(stringify!($body)), expected);
            }
        )*
    };
}

agree! {
    early_returns: |x| {
        if x < -10 { return 1; }
        if x < 0 { if x % 2 == 0 { return x * 2; } return -x; }
        let y = if x > 12 { return 7 } else { x + 1 };
        y * 3
    }
    returns_in_loops: |x| {
        let mut sum = 0;
        for i in 0..20 {
            for j in 0..i {
                if i * j == x { return 1000 + i; }
                sum += j;
                if sum > 300 + x { return sum; }
            }
        }
        sum
    }
    whiles: |x| {
        let mut n = if x < 1 { 1 - x } else { x };
        let mut steps = 0;
        while n != 1 {
            n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
            steps += 1;
        }
        steps
    }
    breaks_and_continues: |x| {
        let mut sum = 0;
        let mut i = 0;
        loop {
            i += 1;
            if i > 40 { break; }
            if i % 3 == 0 { continue; }
            if i * i > 90 * (x + 17) { break; }
            sum += i;
            if sum % 7 == 0 { continue; }
            sum += 1;
        }
        sum * 100 + i
    }
    labels: |x| {
        let mut count = 0;
        'outer: for i in 0..10 {
            for j in 0..10 {
                if j > i { continue 'outer; }
                if i * j > x + 20 { break 'outer; }
                if (i + j) % 5 == 4 { break; }
                count += 1;
            }
            count += 100;
        }
        count
    }
    values_of_loops: |x| {
        let mut i = x;
        let found = loop {
            if i % 7 == 0 { break i; }
            if i > 100 { break -1; }
            i += 1;
        };
        let label = 'a: {
            if found > 10 { break 'a 1; }
            if found < -10 { break 'a 2; }
            3
        };
        found * 10 + label
    }
    matches: |x| {
        const TEN: i32 = 10;
        match x {
            -16 | -15 => 1,
            -14..=-9 => 2,
            n if n < 0 && n % 2 == 0 => n * 100,
            -7..0 => 3,
            0 => { let y = x + 5; y }
            TEN => 99,
            n @ 1..=4 => n * n,
            5.. if x == 13 => return 77,
            _ => match (x % 2, x > 12) { (0, true) => 4, (0, false) => 5, (_, big) => if big { 6 } else { 7 } },
        }
    }
    match_statements: |x| {
        let mut y = 0;
        for i in 0..6 {
            match (x + i) % 4 {
                0 => continue,
                1 => y += 1,
                2 => { if y > 3 { break; } y += 10 }
                _ => {}
            }
            y += 100;
        }
        match x > 0 { true => y + 1, false => y }
    }
    ranges: |x| {
        let mut out = 0;
        for i in (0..5).rev() { out = (out * 3 + i) % 10007; }
        for i in (3..=11).step_by(4) { out = (out * 3 + i) % 10007; }
        for i in (3..13).step_by(4).rev() { out = (out * 3 + i) % 10007; }
        for i in (3..13).rev().step_by(4) { out = (out * 3 + i) % 10007; }
        for i in (x..6).rev() { out = (out * 3 + i + 20) % 10007; }
        for i in (x..7).step_by(3).rev() { out = (out * 3 + i + 20) % 10007; }
        for i in (x..6).rev().step_by(3) { out = (out * 3 + i + 20) % 10007; }
        for i in (x..=x).rev() { out = (out * 3 + i + 20) % 10007; }
        for i in (0..12).step_by(2).step_by(3) { out = (out * 3 + i) % 10007; }
        for i in 250u8..=255u8 { out = (out * 3 + i as i32) % 10007; }
        for i in (5..5).rev() { out += 1; }
        for i in 2147483640..=2147483647 { out = (out * 3 + (i & 7)) % 10007; }
        out
    }
    long_loops_left_early: |x| {
        let n = (x + 16) as usize;
        let mut sum = 0;
        for i in 0..n * 50 {
            if i * i > n * 40 { break; }
            if i % 3 == 1 { continue; }
            sum += i as i32;
        }
        for i in (0..n * 50).step_by(7) {
            if i > 90 { return sum + 10000; }
            sum += 1;
        }
        sum
    }
    nested: |x| {
        let mut total = 0;
        let mut a = x;
        'a: while a < 20 {
            a += 3;
            let mut b = a;
            loop {
                b -= 4;
                if b < -10 { continue 'a; }
                if b == 2 { break; }
                if a + b == 9 { break 'a; }
                while b % 2 != 0 { b -= 1; if b < -5 { return total - 1; } }
                total += b;
            }
            total += 1000;
        }
        total
    }
    leaving_first_by_another_way: |x| {
        let mut a = x;
        let found = {
            let mut last = 0;
            loop {
                if a > 10 { return 1000 + a; }
                last += 1;
                if a % 5 == 0 { break; }
                a += 2;
            }
            last
        };
        'outer: while a < 14 {
            loop {
                if a > 12 { break 'outer; }
                a += 1;
                if a % 3 == 0 { continue 'outer; }
                if a == 8 { return -8; }
                if a % 4 == 0 { break; }
            }
            a += 10;
        }
        found * 100 + a
    }
    tuples_of_choices: |x| {
        let (a, b) = if x > 3 { (x, 1) } else if x < -3 { (-x, 2) } else { return 5; };
        let (c, (d, e)) = match b { 1 => (a, (a + 1, 3)), _ => (0, (1, 2)) };
        a * 100 + b * 10 + c + d * e
    }
    tuples_and_their_fields: |x| {
        fn better(a: (i32, i32), b: (i32, i32)) -> (i32, i32) { if b.0 > a.0 { b } else { a } }
        fn count(tally: &mut (i32, (i32, i32)), y: i32) { tally.1.0 += y; *tally = (tally.0 + 1, (tally.1.0, tally.0)); }
        fn double(y: &mut i32) { *y *= 2; }
        let mut best = (i32::MIN, -1);
        let mut tally = (0, (3, 5));
        for i in 0..9 {
            let y = (x * 7 + i * 5) % 11;
            best = better(best, (y, i));
            count(&mut tally, y);
            if y == 4 { tally.1.1 -= i; }
        }
        double(&mut tally.0);
        double(&mut (tally.1).1);
        let copy = tally;
        tally.0 = 1000;
        tally = (tally.1.0, (tally.0, tally.0 + copy.0));
        let mut pair = ([x, 2], x + 1);
        pair.0[1] += pair.1;
        (best.0 * 100 + best.1) * 3 + copy.1.1 + tally.1.1 + (tally.0, pair.0[1]).1 + better((1, 2), (x, 3)).1
    }
    assignments_to_several_places: |x| {
        let (mut a, mut b, mut i) = (x, 2 * x + 1, 0);
        (a, b) = (b, a);
        [a, b] = [b - a, a];
        let mut list = [a, b, 7, 8];
        (i, list[i as usize]) = (2, 50);
        let mut t = (a, b);
        t = (t.1, t.0 + t.1);
        (t.0, (_, t.1)) = (t.1, (t.0, t.0 + 1));
        (list[0], list[3]) = (list[3], list[0]);
        [list[1], list[2], a, b] = list;
        for k in 0..5 { (a, b) = (b % 1000, a + b % 1000 + k); }
        _ = { i += 1; i };
        t.0 += { t.0 = 3; t.1 };
        let u = (t, { t.1 = 4; t.1 });
        a + b * 3 + i * 1000 + list[0] + list[1] * 5 + list[2] * 7 + list[3] * 11 + t.0 * 13 + t.1 + u.0.1 * 17 + u.1
    }
    loops_over_arrays: |x| {
        const STEPS: [i32; 3] = [5, -3, 2];
        let mut sum = 0;
        for d in [16, 8, 4, 2, 1] { sum += (x & d) * 3; }
        for (dr, (dc, weight)) in [(0, (1, 2)), (-1, (x, 3)), (1, (x + 1, 4))] { sum = sum * 3 % 1009 + dr * dc + weight; }
        let mut list = [x, 3, sum];
        for mut y in list { list[2] = 100; y += 1; sum += y * list[0]; list[0] = 1; }
        for step in STEPS {
            if step * x > 20 { continue; }
            if step + x == 0 { break; }
            sum = sum * 3 % 1009 + step;
        }
        for [a, b] in [[1, 2], [x, 3]] { for _ in [0; 2] { sum += a * b; } }
        for (f, on) in [(-0.5f32, true), (2.25, false)] { if on { sum += (f * 4.0) as i32; } else { sum -= (f * 8.0) as i32; } }
        for k in STEPS { if k == x { return k * 1000; } }
        sum
    }
    numbers_in_ranges: |x| {
        let (mut inside, mut i) = (0, 0);
        if (1..=6).contains(&x) { inside += 1; }
        if (-x..9).contains(&(x * 2)) { inside += 10; }
        if !(..=x).contains(&-3) && (5..).contains(&x) { inside += 100; }
        while (0..x).contains(&(i * i)) { i += 1; }
        if (0.5..2.0).contains(&(x as f32)) { inside += 1000; }
        inside * 10 + i
    }
    conditions_that_exit: |x| {
        let mut i = 0;
        let a = [3, 1, 4, 1, 5, 9, 2, 6];
        let y = (if x < -8 { return 3 } else { x }) + 8;
        let z = (y as usize) - 0;
        while { i += 1; i * 3 < x } { if i == 4 { break; } }
        i * 10 + z as i32 + { let x = 4; x }
    }
}
